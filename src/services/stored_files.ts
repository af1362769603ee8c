/** Files of projects outside of their repositories, which count as uploads in their statistics. */
import type { RawBuilder } from 'kysely';

/**
 * The files of a noun.
 * @param project_id an expression
 * @returns a select of `size_bytes`, one row for each file of the project
 */
export type StoredFiles = (project_id: RawBuilder<unknown>) => RawBuilder<unknown>;
