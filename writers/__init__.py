"""How bytes change: span splices, the changelog, one all-or-nothing transaction. The only room that writes."""
