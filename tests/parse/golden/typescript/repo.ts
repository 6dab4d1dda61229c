import type { A } from "./a";
import fs = require("fs");

// What may be stored.
export interface Row<T> extends A {
  id: string;
  /** Loads it. */
  load(): Promise<T>;
  (x: number): string;
}

export type Maybe<T> = T | undefined;
export const enum Level { Low = 1, High }

@Injectable()
export abstract class Repo<T> implements Row<T> {
  private rows: T[] = [];
  id = "x";
  constructor(private readonly name: string) {}
  find(id: string): T;
  find(id: number): T;
  @Log()
  // kept between
  @Trace() find(id: unknown): T { return this.rows[0]!; }
  abstract close(): void;
  onSave = async (row: T) => { this.rows.push(row); };
}

export function over(a: string): string;
export function over(a: any): any { return a; }
declare function ambient(x: number): void;
declare module "ext" { export function plug(): void; }
namespace Outer.Inner { export const deep = () => 1; }
export default function () { return 1; }
