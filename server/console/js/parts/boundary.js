// What is shown of a page that fails while it is drawn: the frame stays, and other places can be opened.

import { Component } from "preact";
import { html } from "../kit/html.js";
import { place } from "../kit/router.js";
import { Button } from "./button.js";
import { Head } from "./head.js";

/** Shows its children, until drawing them fails; they are tried again at another place. */
export class Boundary extends Component {
  state = { failure: null, at: null };

  componentDidCatch(failure) {
    console.error(failure);
    this.setState({ failure, at: place.peek() });
  }

  render({ children }, { failure, at }) {
    if (!failure || at !== place.value) return children;
    return html`<${Head} title="The page could not be shown"><${Button} kind="first" work=${() => this.setState({ failure: null })}>Try again<//><//>
      <p class="notice bad" role="alert">${String(failure.message ?? failure)}</p>`;
  }
}
