/* The page's shell as the bundler made it; nothing between the two labels when built without node (PAGE=0). */
	.section .rodata
	.global page_shell_start
	.global page_shell_end
	.balign 16
page_shell_start:
#ifdef PAGE_HTML
	.incbin PAGE_HTML
#endif
page_shell_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
