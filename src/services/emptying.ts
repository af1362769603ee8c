/** Rows that projects can have millions of. They are deleted in batches before a project is, so that the deletion itself does not take minutes. */
import type { RawBuilder } from 'kysely';

/** How the rows of a noun are deleted, in the order in which its tables go. */
export interface Emptying {
  /**
   * Statements that each delete one batch of rows, and are repeated until none is left. Rows that another transaction is working on are left for the next
   * batch, or for the deletion of the project.
   * @param projects an array of the ids of projects
   */
  batches(projects: RawBuilder<unknown>): readonly RawBuilder<unknown>[];
}
