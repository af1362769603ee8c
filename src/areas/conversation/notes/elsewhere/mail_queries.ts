/** Comments in mail, with the commented item. */
import { type RawBuilder, sql } from 'kysely';
import {
  commitKind,
  type DiscussedCommit,
  isAbout,
  isIssuable,
  type Noteable,
  noteableOf,
  type StoredKind,
} from '../../../../access/index.ts';
import type { MailSubject, MailTarget } from '../../../../services/index.ts';

/** A noun with mail notifications. */
export interface Mailed {
  kind: StoredKind;
  /** The mail description of an item, by the id of its row. */
  mail(id: number): MailSubject;
}

/** The same for commits. */
export interface MailedCommits {
  mail(commit: DiscussedCommit): MailSubject;
}

/** The participants of an item without a list of them: the commenters, and users mentioned in comments. */
function participantsIn(on: Noteable, others: RawBuilder<unknown>): RawBuilder<unknown> {
  const commenters = sql`select author_id from notes where ${isAbout('notes', on)} and not system and not internal`;
  const mentioned = sql`
    select user_id from user_mentions join notes on notes.id = note_id where ${isAbout('notes', on)} and not internal`;
  return sql`${commenters} union ${mentioned} union ${others}`;
}

/** Comments on all of these nouns, and on commits. */
export const commentMail = (nouns: readonly Mailed[], commits: MailedCommits): MailTarget => ({
  types: ['Note', 'DiffNote', 'DiscussionNote'],
  async find(db, note_id) {
    const row = await db
      .selectFrom('notes')
      .select(['id', 'body', 'discussion_id', 'internal'])
      .select(['issue_id', 'epic_id', 'merge_request_id', 'snippet_id', 'project_id', 'commit_id'])
      .where('id', '=', note_id)
      .executeTakeFirst();
    if (!row) return undefined;
    const { id, body, discussion_id, internal, project_id, commit_id } = row;
    const stored = noteableOf(
      nouns.map(({ kind }) => kind),
      row,
    );
    const on = stored ?? { kind: commitKind, project_id: project_id!, sha: commit_id! };
    const subject = 'sha' in on ? commits.mail(on) : nouns.find(({ kind }) => kind === on.kind)!.mail(on.id);
    const mentioned = sql`select user_id from user_mentions where note_id = ${id}`;
    return {
      subject: isIssuable(on)
        ? subject
        : { ...subject, participants: (are_members) => participantsIn(on, subject.participants(are_members)) },
      note: { id, body, discussion_id, internal, mentioned },
    };
  },
});
