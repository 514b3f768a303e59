"""Check of `doctor`: only the service's user can read the env file."""

import stat

from config import env_files
from core.watch.doctor import Concern, register


@register("Let only the service's user read it: chmod 600.", name="env_file", per_host=True)
def env_file_is_private() -> str:
    path = env_files.env_file()
    if path is None:
        return "none: the variables come with the process"
    if path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        raise Concern(f"everybody on this host may read or change {path}, and the keys in it")
    return f"{path} is private"
