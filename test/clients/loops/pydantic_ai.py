from pydantic_ai import Agent


def save_file(path: str, content: str) -> str:
    """Saves a text file."""
    open(path, "w").write(content)
    return "saved"


print(Agent(model, tools=[save_file]).run_sync(os.environ["PROMPT"]).output)
