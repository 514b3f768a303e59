"""Catalogue of faults, with the scenarios and tests that play them."""

from tools.faults.book.fault import Fault
from tools.faults.book.neighbours import NEIGHBOURS
from tools.faults.book.processes import PROCESSES
from tools.faults.book.receivers import RECEIVERS
from tools.faults.book.servers import SERVERS

BOOK: tuple[Fault, ...] = (*PROCESSES, *SERVERS, *RECEIVERS, *NEIGHBOURS)
