/** Commits as a noteable: what discussions and to-do items need of them. */
import { commitKind, type DiscussedCommit } from '../../../access/index.ts';
import type { CommitTarget } from '../../activity/todos/index.ts';
import { Commit } from '../../code/repository/index.ts';
import type { Differing } from '../notes/index.ts';
import { positionOn, presentTargets } from './git.ts';

export const commitNoun: Differing<DiscussedCommit> & CommitTarget = {
  kind: commitKind,
  schema: Commit,
  present: presentTargets,
  position: positionOn,
};
