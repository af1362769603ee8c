/**
 * The descriptions that areas provide for the events they record: how a noun appears in events, and samples for testing
 * hooks.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { TSchema } from 'typebox';
import type { NoteableKind } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import type { Filling } from '../../../services/index.ts';
import { snapshotInJson, type Telling } from '../../instance/hook_events/index.ts';
import type { ProjectRow } from './part_queries.ts';

/** How events about comments and reactions show the commented item. */
export interface HookItem<K extends NoteableKind = NoteableKind> {
  kind: K;
  /** The member that shows the item. */
  member: 'issue' | 'merge_request' | 'snippet' | 'commit';
  schema: TSchema;
  /**
   * The part of a snapshot about the item.
   * @param item its id, or its SHA
   */
  part(item: RawBuilder<never>): RawBuilder<unknown>;
  /** @param part as it was snapped */
  present(part: never, project: ProjectRow, services: Filling): unknown;
  /** The number, id or SHA of the item in its page's address. */
  name(part: never): string | number;
  /** A predicate on rows of its table: some readers of its project may not read it. */
  isConfidential?: RawBuilder<SqlBool>;
}

/** An item whose functions agree on its part. */
interface ItemOf<K extends NoteableKind, Part> extends HookItem<K> {
  part(item: RawBuilder<never>): RawBuilder<Part>;
  present(part: Part, project: ProjectRow, services: Filling): unknown;
  name(part: Part): string | number;
}

export const hookItem = <K extends NoteableKind, Part>(item: ItemOf<K, Part>): HookItem<K> => item;

/** The project of a sample, and the user who requests it. */
export interface SampleAsk {
  project_id: number;
  user_id: number;
}

/** A kind of event by its name, and the snapshot that its body is made of: an expression, which is null if there is no data. */
export interface Sampled {
  event: string;
  snapshot: RawBuilder<unknown>;
}

/** @param rows a select of the columns that the snapshot needs; of several rows, the first is taken */
export const sampled = <Row>(event: Telling<Row>, rows: RawBuilder<Row>): Sampled => ({
  event: event.name,
  snapshot: sql`(select ${snapshotInJson(event)} from (${rows} limit 1) news)`,
});

/**
 * Finds an event to show in the newest data of a project.
 * @returns undefined if there is none
 */
export type Sample = (services: Pick<Services, 'db' | 'storages'>, asked: SampleAsk) => Promise<Sampled | undefined>;

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
