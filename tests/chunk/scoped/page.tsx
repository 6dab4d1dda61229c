import React, { useState } from "react";
import { Unused } from "./unused";
const LIMIT = 3;

/** A page. */
export class Page extends React.Component<Props> implements Shown {
  state = { rows: [] };

  render() {
    return <ul onClick={() => useState(LIMIT)} />;
  }
}
