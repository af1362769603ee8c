/** What the areas that record events say of them: how a noun appears in events, and samples, by which hooks are tested. */
import type { RawBuilder, SqlBool } from 'kysely';
import type { NoteableKind } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';

/** How events about comments and reactions show what these are on. */
export interface HookItem<K extends NoteableKind = NoteableKind> {
  kind: K;
  /** The member that shows it. */
  member: 'issue' | 'merge_request' | 'snippet' | 'commit';
  /**
   * It as an expression of type `json`.
   * @param row the name of a row with the columns that name it, e.g. `notes`
   */
  facts(row: string): RawBuilder<unknown>;
  /** Its number, id or SHA, by which its page is found, of such a row. */
  name(row: string): RawBuilder<unknown>;
  /** A predicate on rows of its table: not everyone who reads its project may read it. */
  isConfidential?: RawBuilder<SqlBool>;
}

/** What is left open in the facts of an event, since the database does not have it. `body_present.ts` says how each is filled. */
export type Hole =
  | 'person'
  | 'project'
  | 'repository'
  | 'url'
  | 'wiki'
  | 'text'
  | 'avatar'
  | 'commit'
  | 'commit_title'
  | 'authored'
  | 'push';

/** For what is sampled: a project, and the user who asks. */
export interface SampleAsk {
  project_id: number;
  user_id: number;
}

/**
 * Makes the facts of an event from the newest data of a project.
 * @returns an expression of type `json`, which is null when there is none; undefined when there is none
 */
export type Sample = (
  services: Pick<Services, 'db' | 'storages'>,
  asked: SampleAsk,
) => Promise<RawBuilder<unknown> | undefined>;

/** The samples by trigger. */
export interface Samples {
  push_events: Sample;
  tag_push_events: Sample;
  issues_events: Sample;
  note_events: Sample;
  merge_requests_events: Sample;
  emoji_events: Sample;
  milestone_events: Sample;
  wiki_page_events: Sample;
  resource_access_token_events: Sample;
  error_events: Sample;
  feature_flag_events: Sample;
  vulnerability_events: Sample;
  deployment_events: Sample;
  job_events: Sample;
  pipeline_events: Sample;
  releases_events: Sample;
}
