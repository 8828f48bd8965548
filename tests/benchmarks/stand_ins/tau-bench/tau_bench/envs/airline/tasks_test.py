from tau_bench.types import Action, Task

TASKS = [
    Task(
        user_id="ida_3",
        instruction="You are Ida Fern (ida_3). You and Otto want to ride from Heath. Ask what it costs in all.",
        actions=[
            Action(name="get_flight", kwargs={"flight": "B1"}),
            Action(name="think", kwargs={"thought": "two places are free"}),
            Action(name="book_ride", kwargs={"user_id": "ida_3", "flight": "B1", "riders": ["Ida Fern", "Otto"]}),
        ],
        outputs=["180"],
    ),
    Task(
        user_id="uma_7",
        instruction="You are Uma Thistle (uma_7). Take your sister Ina along from Pond, or ride from Heath alone.",
        actions=[
            Action(name="book_ride", kwargs={"user_id": "uma_7", "flight": "B2", "riders": ["Ina"]}),
            Action(name="book_ride", kwargs={"user_id": "uma_7", "flight": "B1", "riders": ["Uma Thistle"]}),
        ],
        outputs=[],
    ),
]
