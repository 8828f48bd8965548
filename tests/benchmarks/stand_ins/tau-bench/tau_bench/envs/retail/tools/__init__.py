from .calculate import Calculate
from .find_customer import FindCustomer
from .get_order import GetOrder
from .swap_plant import SwapPlant
from .transfer_to_human_agents import TransferToHumanAgents

ALL_TOOLS = [SwapPlant, FindCustomer, GetOrder, Calculate, TransferToHumanAgents]
