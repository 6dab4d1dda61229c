import React, { useState } from "react";

type Props = { title: string };

/** A page. */
export function Page<T,>({ title }: Props) {
  const onClick = () => useState(title);
  return <a href="/x?a=1&b=2" onClick={onClick}>it's {title}</a>;
}

export const Row = React.memo(function RowInner() {
  return <td />;
});

const Plain: React.FC = () => <Page title="x" />;
export default Plain;
