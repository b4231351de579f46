-- Open interrupts in the order of their admission: an inbox is read from here, however many have ended.
CREATE INDEX interrupts_open ON interrupts (position) WHERE live = 1;
