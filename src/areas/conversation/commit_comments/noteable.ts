/** Commits as a noun: the descriptions that comments, webhooks, mail and to-do items need (docs/adding_a_noun.md). */
import { sql } from 'kysely';
import { commitKind } from '../../../access/index.ts';
import { commitFacts } from '../../activity/hooks/index.ts';
import type { CommitTarget } from '../../activity/todos/index.ts';
import { Commit } from '../../code/repository/index.ts';
import type { Discussable } from '../notes/definition.ts';
import type { MailedCommits } from '../notes/elsewhere/mail_queries.ts';
import { positionOn, presentTargets } from './git.ts';
import { commitMail } from './mail_git.ts';

export const commitNoun = {
  kind: commitKind,
  hook: {
    kind: commitKind,
    member: 'commit',
    facts: (row) => commitFacts(sql.ref(`${row}.project_id`), sql.ref(`${row}.commit_id`)),
    name: (row) => sql.ref(`${row}.commit_id`),
  },
  mail: commitMail,
  schema: Commit,
  present: presentTargets,
  diff: { position: positionOn },
} satisfies Discussable & MailedCommits & CommitTarget;
