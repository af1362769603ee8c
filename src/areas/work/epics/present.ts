/** How epics appear in replies (docs/reference/epics.md). */
import { type Static, Type } from 'typebox';
import { epicKind, type MaybeCaller } from '../../../access/index.ts';
import { replyOf, shownOf } from '../../../fields/index.ts';
import { Id, resource, type Services } from '../../../http/index.ts';
import { presentUserBasic } from '../../people/users/index.ts';
import { presentLabelsOf, textColorOn } from '../../planning/labels/index.ts';
import { epicFields } from './fields.ts';
import { type EpicRow, epicRows } from './queries.ts';

export const Epic = resource('Epic', replyOf(epicFields));
export type EpicReply = Static<typeof Epic>;

/** An epic in the reply for its issues. */
export const EpicInIssue = resource('EpicInIssue', {
  id: Id,
  iid: Type.Integer(),
  title: Type.String(),
  url: Type.String({ description: 'A path' }),
  group_id: Id,
});

export interface EpicForm {
  /** The group of the list: references to its own epics are short. If omitted, all are full. */
  relative_to?: number | undefined;
  with_labels_details?: boolean | undefined;
  /** Whether the reply is for a single epic, which includes `subscribed`. */
  single?: boolean | undefined;
}

/** The API URLs of an epic. */
function addresses(url: string, { group_id, iid, parent }: EpicRow): EpicReply['_links'] {
  const epicAt = (group: number, number: number) => `${url}/api/v4/groups/${group}/epics/${number}`;
  const self = epicAt(group_id, iid);
  return {
    self,
    epic_issues: `${self}/issues`,
    group: `${url}/api/v4/groups/${group_id}`,
    parent: parent && epicAt(parent.group_id, parent.iid),
  };
}

/** The dates in effect: fixed ones, or those inherited from issues and children. */
function datesOf(row: EpicRow) {
  const { inherited_start_date, inherited_due_date } = row;
  const due_date = row.due_date_is_fixed ? row.due_date_fixed : inherited_due_date;
  return {
    start_date: row.start_date_is_fixed ? row.start_date_fixed : inherited_start_date,
    start_date_from_inherited_source: inherited_start_date,
    start_date_from_milestones: inherited_start_date,
    end_date: due_date,
    due_date,
    due_date_from_inherited_source: inherited_due_date,
    due_date_from_milestones: inherited_due_date,
  };
}

const shown = shownOf(epicFields);

/**
 * @param url the external address of the server
 * @param labels the labels of the epic, ordered by title
 */
function presentEpic(url: string, row: EpicRow, labels: EpicReply['labels'], form: EpicForm): EpicReply {
  const { id, iid, group_id } = row;
  const web_url = url + epicKind.page(row.full_path, iid);
  const [short, full] = [`&${iid}`, `${row.full_path}&${iid}`];
  return {
    ...shown(row),
    work_item_id: id,
    text_color: textColorOn(row.color),
    parent_id: row.parent?.id ?? null,
    parent_iid: row.parent?.iid ?? null,
    imported: row.imported_from !== 'none',
    author: row.author && presentUserBasic(url, row.author),
    ...datesOf(row),
    web_edit_url: `${web_url}/edit`,
    web_url,
    references: { short, relative: form.relative_to === group_id ? short : full, full },
    labels,
    ...(form.single ? { subscribed: row.subscribed } : {}),
    _links: addresses(url, row),
  };
}

/**
 * Epics as replies, with a fixed number of statements for any number of epics.
 * @param services `db` may be a transaction
 * @param caller the reader, who may read the epics; other details that they may not see are omitted
 * @param ids ids of epics; the replies are in this order, without deleted ones
 */
export async function presentEpics(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  ids: readonly number[],
  form: EpicForm = {},
): Promise<EpicReply[]> {
  const rows = await epicRows(db, caller, ids, form.single === true);
  const labels = await presentLabelsOf(rows, form.with_labels_details);
  return rows.map((row) => presentEpic(url, row, labels.get(row.id) ?? [], form));
}

/**
 * One epic as the reply of an operation on it.
 * @throws Error if it is deleted
 */
export async function presentSingleEpic(
  services: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  { id, group_id }: { id: number; group_id: number },
): Promise<EpicReply> {
  const [epic] = await presentEpics(services, caller, [id], { relative_to: group_id, single: true });
  if (!epic) throw new Error(`the epic ${id} is gone`);
  return epic;
}
