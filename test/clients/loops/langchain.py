from langchain.agents import create_agent


def save_file(path: str, content: str) -> str:
    """Saves a text file."""
    open(path, "w").write(content)
    return "saved"


agent = create_agent(model, tools=[save_file])
print(agent.invoke({"messages": [("user", os.environ["PROMPT"])]})["messages"][-1].content)
