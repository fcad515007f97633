"""The parts screens are made of: messages upwards, data downwards."""
