/** Commits as a noteable: what to-do items need of them. */
import { commitKind } from '../../../access/index.ts';
import type { CommitTarget } from '../../activity/todos/index.ts';
import { Commit } from '../../code/repository/index.ts';
import { presentTargets } from './queries.ts';

export const commitNoun: CommitTarget = { kind: commitKind, schema: Commit, present: presentTargets };
