"""Adapters of Interrupt Router: one module for each framework.

`langgraph` and `langgraph_sync`, `openai_agents`, `pydantic_ai`. Each needs the extra of the same name.
"""
