# A Debian package, in build/deb. It is built in a copy of the sources that shares this build folder, so what is compiled is not compiled again.
DEB := $(B)/deb
deb: all man ## a Debian package, into build/deb (needs debhelper)
	@command -v dh >/dev/null && command -v dpkg-buildpackage >/dev/null || { echo "debhelper is missing: apt-get install debhelper dpkg-dev fakeroot"; exit 1; }
	$(Q)rm -rf $(DEB) && mkdir -p $(DEB)/profrig-$(VERSION)
	$(Q)git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 cp -a --parents -t $(DEB)/profrig-$(VERSION)
	$(Q)ln -s $(abspath $(B)) $(DEB)/profrig-$(VERSION)/build
	$(Q)[ ! -d $(UI)/node_modules ] || ln -s $(abspath $(UI)/node_modules) $(DEB)/profrig-$(VERSION)/$(UI)/node_modules
	$(call say,DEB,profrig)
	$(Q)cd $(DEB)/profrig-$(VERSION) && PAGE=$$(cat build/gen/page.mode) dpkg-buildpackage -us -uc -b -nc -d >../build.log 2>&1 || { tail -n 40 ../build.log; exit 1; }
	$(Q)rm -rf $(DEB)/profrig-$(VERSION)
	@ls $(DEB)/*.deb

.PHONY: deb
