# Manual pages: out of the binary's own tables, with what people wrote in docs/man/<name>.man; completion for shells, out of the same.
MAN := $(B)/man
man: $(MAN)/.done ## manual pages, into build/man
$(MAN)/.done: $(B)/profrig $(wildcard docs/man/*.man)
	$(call say,MAN,$(MAN))
	$(Q)rm -rf $(MAN) && mkdir -p $(MAN)
	$(Q)export PROFRIG_MAN_DATE=$$(git log -1 --format=%cs 2>/dev/null || date -u +%F); for page in $$($(B)/profrig __man); do \
		case $$page in profrig) to=profrig.1;; profrig.yaml) to=profrig.yaml.5;; *) to=profrig-$$page.1;; esac; \
		$(B)/profrig __man $$page docs/man/$$page.man | cat -s >$(MAN)/$$to || exit 1; done
	$(Q)for shell in bash zsh fish; do $(B)/profrig completion $$shell >$(MAN)/completion.$$shell || exit 1; done
	$(Q)touch $@

install: install-man
SHARE := $(DESTDIR)$(PREFIX)/share
install-man: man
	install -d $(SHARE)/man/man1 $(SHARE)/man/man5 $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 644 $(MAN)/*.1 $(SHARE)/man/man1
	install -m 644 $(MAN)/*.5 $(SHARE)/man/man5
	install -m 644 $(MAN)/completion.bash $(SHARE)/bash-completion/completions/profrig
	install -m 644 $(MAN)/completion.zsh $(SHARE)/zsh/site-functions/_profrig
	install -m 644 $(MAN)/completion.fish $(SHARE)/fish/vendor_completions.d/profrig.fish

lint: lint-man
lint-man: man
	@! command -v mandoc >/dev/null || mandoc -Tlint -W warning $(MAN)/*.[15]

.PHONY: man install-man lint-man
