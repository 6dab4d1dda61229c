import { User } from "./user.js";
import unused from "unused";
const LIMIT = 3;

/** Keeps users. Invariant: sorted. */
export class Repo extends Base {
  rows = [];

  load() {
    return new User(LIMIT);
  }
}
