/** Commits as a noun: the descriptions that comments, webhooks, mail and to-do items need (docs/adding_a_noun.md). */
import { commitKind } from '../../../access/index.ts';
import { objectInJson } from '../../../db/index.ts';
import { HookCommit, hookItem, oneCommit } from '../../activity/hooks/index.ts';
import type { CommitTarget } from '../../activity/todos/index.ts';
import { Commit } from '../../code/repository/index.ts';
import type { Discussable } from '../notes/definition.ts';
import type { MailedCommits } from '../notes/elsewhere/mail_queries.ts';
import { positionOn, presentTargets } from './git.ts';
import { commitMail } from './mail_git.ts';

export const commitNoun = {
  kind: commitKind,
  hook: hookItem<typeof commitKind, { sha: string }>({
    kind: commitKind,
    member: 'commit',
    schema: HookCommit,
    part: (sha) => objectInJson({ sha }),
    present: ({ sha }, project, services) => oneCommit(services, project, sha),
    name: ({ sha }) => sha,
  }),
  mail: commitMail,
  schema: Commit,
  present: presentTargets,
  diff: { position: positionOn },
} satisfies Discussable & MailedCommits & CommitTarget;
