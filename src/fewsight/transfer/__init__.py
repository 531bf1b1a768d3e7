"""What known categories lend to a new one. [Rodner2010]"""
