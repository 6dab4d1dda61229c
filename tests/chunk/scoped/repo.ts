import { User, Unused } from "./user";
import * as db from "db";
const LIMIT = 3;

/** Keeps users. Invariant: sorted. */
@Injectable()
export abstract class Repo<T> extends Base<T> implements Keeps<T> {
  private rows: User[] = [];

  load(): User {
    return db.first(this.rows, LIMIT);
  }
}
