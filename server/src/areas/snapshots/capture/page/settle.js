// Runs in a world of its own in each frame, so the page's scripts neither see nor change it.
"use strict";
globalThis.settler ??= (() => {
  // Elements of a frame that are looked at, at most.
  const ELEMENTS_MAX = 100000;
  // Masks of a frame, at most.
  const MASKS_MAX = 1000;
  const MASK_COLOUR = "#FF00FF";
  // How long a painted frame is waited for: frames that are not visible paint none.
  const PAINT_MS = 100;
  // How often conditions that have no event are looked at.
  const PERIOD_MS = 50;
  const STYLE = `
    *, *::before, *::after {
      caret-color: transparent !important;
      scroll-behavior: auto !important;
    }
    *::-webkit-scrollbar { display: none !important; }
    * { scrollbar-width: none !important; }
  `;

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  const listening = new WeakSet();
  let maskHost = null;

  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const within = (promise, ms) => Promise.race([promise, pause(ms)]);
  const painted = () =>
    within(
      new Promise((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(resolve)),
      ),
      PAINT_MS,
    );
  const attempt = (action) => {
    try {
      return action();
    } catch {
      // The element or animation does not support it, or is gone.
      return undefined;
    }
  };

  // The document and the open shadow roots in it.
  function roots() {
    const found = [document];
    let seen = 0;
    for (let i = 0; i < found.length; i++) {
      const walker = document.createTreeWalker(found[i], NodeFilter.SHOW_ELEMENT);
      while (walker.nextNode() && seen++ < ELEMENTS_MAX) {
        const shadow = walker.currentNode.shadowRoot;
        if (shadow) found.push(shadow);
      }
    }
    return found;
  }

  function all(selector) {
    return roots().flatMap((root) => [
      ...(attempt(() => root.querySelectorAll(selector)) ?? []),
    ]);
  }

  // Finite animations show their end, infinite ones their element without them.
  function freezeAnimation(animation) {
    if (animation.timeline !== document.timeline) return;
    const end = animation.effect?.getComputedTiming().endTime;
    attempt(() => (end === Infinity ? animation.cancel() : animation.finish()));
  }

  function onAnimation(event) {
    const target = event.composedPath()[0];
    for (const animation of target?.getAnimations?.({ subtree: true }) ?? []) {
      freezeAnimation(animation);
    }
  }

  function freeze() {
    for (const root of roots()) {
      if (!root.adoptedStyleSheets.includes(sheet)) {
        attempt(() => (root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet]));
      }
      if (!listening.has(root)) {
        listening.add(root);
        for (const name of ["animationstart", "animationiteration", "transitionrun"]) {
          root.addEventListener(name, onAnimation, true);
        }
      }
      root.getAnimations().forEach(freezeAnimation);
    }
    for (const svg of all("svg")) {
      attempt(() => {
        svg.pauseAnimations();
        svg.setCurrentTime(0);
      });
    }
    for (const marquee of all("marquee")) attempt(() => marquee.stop());
    if (document.documentElement) {
      attempt(() => document.documentElement.setAttribute("spellcheck", "false"));
    }
  }

  async function stopMedia(media) {
    media.autoplay = false;
    media.pause();
    if (media.readyState > 0 && media.currentTime !== 0) {
      const sought = new Promise((resolve) =>
        media.addEventListener("seeked", resolve, { once: true }),
      );
      media.currentTime = 0;
      await sought;
    }
  }

  async function loadImage(image) {
    image.loading = "eager";
    if (image.src || image.srcset) await image.decode().catch(() => {});
  }

  async function notBusy(deadline) {
    while (performance.now() < deadline && all('[aria-busy="true"]').length > 0) {
      await pause(PERIOD_MS);
    }
  }

  async function fontsLoaded(deadline) {
    await document.fonts.ready;
    while (performance.now() < deadline && document.fonts.status !== "loaded") {
      await pause(PERIOD_MS);
    }
  }

  async function settle(hidden, limitMs) {
    const deadline = performance.now() + limitMs;
    if (hidden.length > 0) {
      sheet.replaceSync(STYLE);
      for (const selector of hidden) {
        // One by one, as a selector may be valid and leave a comment or string open.
        const rule = `:is(${selector}), :is(${selector}) * { visibility: hidden !important; }`;
        attempt(() => sheet.insertRule(rule));
      }
      for (const element of hidden.flatMap(all)) {
        element.style?.setProperty("visibility", "hidden", "important");
      }
    }
    freeze();
    for (const frame of all("iframe[loading=lazy]")) frame.loading = "eager";
    const waits = [
      ...all("img").map(loadImage),
      ...all("video, audio").map(stopMedia),
      fontsLoaded(deadline),
      notBusy(deadline),
    ];
    await within(Promise.allSettled(waits), limitMs);
    freeze();
    await painted();
  }

  async function scrollThrough(heightMax) {
    const scroller = document.scrollingElement;
    if (!scroller) return;
    const end = Math.min(scroller.scrollHeight, heightMax);
    for (let y = innerHeight; y < end; y += innerHeight) {
      scroller.scrollTo({ top: y, behavior: "instant" });
      await painted();
    }
    scroller.scrollTo({ top: 0, left: 0, behavior: "instant" });
    await painted();
  }

  const set = (element, name, value) => element.style.setProperty(name, value, "important");

  function unstickFixed(element) {
    const before = element.getBoundingClientRect();
    if (before.width === 0 || before.height === 0) return;
    set(element, "position", "absolute");
    set(element, "box-sizing", "border-box");
    set(element, "width", `${before.width}px`);
    set(element, "height", `${before.height}px`);
    set(element, "margin", "0");
    set(element, "inset", "auto");
    set(element, "top", "0");
    set(element, "left", "0");
    const after = element.getBoundingClientRect();
    set(element, "top", `${before.top - after.top}px`);
    set(element, "left", `${before.left - after.left}px`);
  }

  function unstick() {
    const elements = all("*").slice(0, ELEMENTS_MAX);
    const positions = elements.map((element) => getComputedStyle(element).position);
    elements.forEach((element, i) => {
      if (!element.style) return;
      if (positions[i] === "sticky") {
        set(element, "position", "relative");
        set(element, "inset", "auto");
      } else if (positions[i] === "fixed") {
        unstickFixed(element);
      }
    });
  }

  // An HTML element in any kind of document.
  const newBox = () => document.createElementNS("http://www.w3.org/1999/xhtml", "div");

  function paintMasks(selectors) {
    maskHost?.remove();
    maskHost = null;
    const masked = new Set(selectors.flatMap(all));
    const boxes = [...masked]
      .slice(0, MASKS_MAX)
      .map((element) => element.getBoundingClientRect())
      .filter((box) => box.width > 0 && box.height > 0);
    if (boxes.length === 0) return;
    const root = document.documentElement;
    maskHost = newBox();
    maskHost.popover = "manual";
    maskHost.style.cssText = `
      all: initial !important; display: block !important; position: absolute !important;
      left: 0 !important; top: 0 !important; overflow: clip !important;
      pointer-events: none !important; z-index: 2147483647 !important;
      width: ${root.scrollWidth}px !important; height: ${root.scrollHeight}px !important;`;
    const shadow = maskHost.attachShadow({ mode: "closed" });
    root.append(maskHost);
    // Above dialogs, which are above everything else.
    attempt(() => maskHost.showPopover());
    const origin = maskHost.getBoundingClientRect();
    for (const box of boxes) {
      const left = Math.floor(box.left - origin.left);
      const top = Math.floor(box.top - origin.top);
      const mask = newBox();
      mask.style.cssText = `
        position: absolute; background: ${MASK_COLOUR}; forced-color-adjust: none;
        left: ${left}px; top: ${top}px;
        width: ${Math.ceil(box.right - origin.left) - left}px;
        height: ${Math.ceil(box.bottom - origin.top) - top}px;`;
      shadow.append(mask);
    }
  }

  async function beforeShot(masked) {
    freeze();
    paintMasks(masked);
    await painted();
  }

  function invalidSelector(selectors) {
    const fragment = document.createDocumentFragment();
    const isInvalid = (selector) => {
      try {
        fragment.querySelector(selector);
        return false;
      } catch {
        return true;
      }
    };
    return selectors.find(isInvalid) ?? null;
  }

  freeze();
  return { settle, scrollThrough, unstick, beforeShot, invalidSelector };
})();
