/* noop - what it costs to start a static program that does nothing. */
int main(void) { return 0; }
