/** How iterations and their cadences appear in replies (docs/reference/iterations.md). */
import { type Static, Type } from 'typebox';
import { pagePath } from '../../../foundation/addresses.ts';
import { Address, DateOnly, Id, Iid, Markdown, nullable, resource, Timestamp } from '../../../http/index.ts';

export const Iteration = resource('Iteration', {
  id: Id,
  iid: Iid,
  sequence: Type.Integer({ description: 'Position in the cadence, from 1' }),
  group_id: Id,
  title: nullable(Type.String()),
  description: nullable(Markdown()),
  state: Type.Integer({ description: '1 upcoming, 2 current, 3 closed' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  start_date: DateOnly,
  due_date: DateOnly,
  web_url: Address(),
});

/** An iteration as `iterationRows` reads it. */
export interface IterationRow {
  id: number;
  iid: number;
  sequence: number;
  cadence_id: number;
  group_id: number;
  title: string | null;
  description: string | null;
  state: number;
  created_at: string;
  updated_at: string;
  start_date: string;
  due_date: string;
  /** The full path of its group. */
  full_path: string;
}

const iterationPage = pagePath('/groups/:group/-/iterations/:iteration_id');

/** @param url the external address of the server */
export const presentIteration = (
  url: string,
  { cadence_id: _, full_path, ...iteration }: IterationRow,
): Static<typeof Iteration> => ({ ...iteration, web_url: url + iterationPage(full_path, iteration.id) });

export const IterationCadence = resource('IterationCadence', {
  id: Id,
  group_id: Id,
  title: Type.String(),
  description: nullable(Markdown()),
  active: Type.Boolean({ description: 'Whether an automatic cadence creates new iterations' }),
  automatic: Type.Boolean({ description: 'Whether iterations are created automatically' }),
  start_date: nullable(DateOnly),
  duration_in_weeks: nullable(Type.Integer()),
  iterations_in_advance: nullable(Type.Integer({ description: 'Number of upcoming iterations to keep' })),
  roll_over: Type.Boolean({ description: 'Move issues that are open when an iteration ends to the next one' }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
