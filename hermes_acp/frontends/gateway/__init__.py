"""The gateway connects chat platforms to the agent. It speaks ACP to the agent and each platform's protocol to
people.
"""
