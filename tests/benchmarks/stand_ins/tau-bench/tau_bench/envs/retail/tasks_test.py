from tau_bench.types import Action, Task

TASKS_TEST = [
    Task(
        user_id="ida_3",
        instruction="You are Ida Fern, card C-300. You want your four lavenders to be an olive tree.",
        actions=[
            Action(name="find_customer", kwargs={"card": "C-300"}),
            Action(name="get_order", kwargs={"order_id": "N1"}),
            Action(name="swap_plant", kwargs={"order_id": "N1", "old": "lavender", "new": "olive", "count": 1}),
        ],
        outputs=[],
    ),
    Task(
        user_id="otto_5",
        instruction="You are Otto Birch, card C-500. Instead of thyme you want six lavenders, and then a human.",
        actions=[
            Action(name="swap_plant", kwargs={"order_id": "N3", "old": "thyme", "new": "lavender", "count": 6}),
            Action(name="transfer_to_human_agents", kwargs={"summary": "Otto wants to talk"}),
        ],
        outputs=[],
    ),
    Task(
        user_id="ida_3",
        instruction="You are Ida Fern, card C-300. Make the lavenders two olive trees. What more is it?",
        actions=[
            Action(name="swap_plant", kwargs={"order_id": "N1", "old": "lavender", "new": "olive", "count": 2}),
            Action(name="calculate", kwargs={"expression": "2 * 38 - 4 * 4.5"}),
        ],
        outputs=["58.00"],
    ),
]
