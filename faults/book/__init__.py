"""The catalogue of faults: what may happen, and what plays it."""

from faults.book.fault import Fault
from faults.book.neighbours import NEIGHBOURS
from faults.book.processes import PROCESSES
from faults.book.receivers import RECEIVERS
from faults.book.servers import SERVERS

BOOK: tuple[Fault, ...] = (*PROCESSES, *SERVERS, *RECEIVERS, *NEIGHBOURS)
