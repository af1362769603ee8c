/**
 * The descriptions that areas provide for the events they record: how a noun appears in events, and samples for testing
 * hooks.
 */
import type { RawBuilder, SqlBool } from 'kysely';
import type { NoteableKind } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';

/** How events about comments and reactions show the commented item. */
export interface HookItem<K extends NoteableKind = NoteableKind> {
  kind: K;
  /** The field that shows the item. */
  member: 'issue' | 'merge_request' | 'snippet' | 'commit';
  /**
   * The item as an expression of type `json`.
   * @param row the name of a row with the columns that refer to the item, e.g. `notes`
   */
  facts(row: string): RawBuilder<unknown>;
  /** The number, id or SHA of the item in its page's address, from such a row. */
  name(row: string): RawBuilder<unknown>;
  /** A predicate on rows of its table: some readers of its project may not read it. */
  isConfidential?: RawBuilder<SqlBool>;
}

/**
 * The values missing in the facts of an event, because they are not in the database. `body_present.ts` describes how
 * each is filled.
 */
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

/** The project of a sample, and the user who requests it. */
export interface SampleAsk {
  project_id: number;
  user_id: number;
}

/**
 * Builds the facts of an event from the newest data of a project.
 * @returns an expression of type `json`, which is null if there is no data; undefined if there is none at all
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
