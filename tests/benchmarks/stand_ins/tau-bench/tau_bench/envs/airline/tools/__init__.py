from .book_ride import BookRide
from .get_flight import GetFlight
from .think import Think

ALL_TOOLS = [BookRide, GetFlight, Think]
