"""Answer plans: what the index itself knows for some kinds of question. `answer.planner` chooses one."""
