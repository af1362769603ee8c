/** How labels appear in replies (docs/reference/labels.md). */
import { type Static, Type } from 'typebox';
import { Id, nullable, optional, resource } from '../../../http/index.ts';
import { mapInSlices, toInlineHtml } from '../../../markdown/index.ts';
import { textColorOn } from './color_rules.ts';

const detailFields = {
  id: Id,
  name: Type.String(),
  description: nullable(Type.String()),
  description_html: nullable(Type.String()),
  text_color: Type.String({ description: 'A text color that is readable on `color`' }),
  color: Type.String({ description: '`#rrggbb`' }),
  archived: Type.Boolean(),
};

/** A label of an issuable, with details. */
export const LabelDetails = resource('LabelDetails', detailFields);

const counts = {
  open_issues_count: Type.Integer(),
  closed_issues_count: Type.Integer(),
  open_merge_requests_count: Type.Integer(),
};
const withCounts = Object.fromEntries(Object.entries(counts).map(([name, schema]) => [name, optional(schema)])) as {
  [Name in keyof typeof counts]: ReturnType<typeof optional<(typeof counts)[Name]>>;
};

const groupFields = { ...detailFields, ...withCounts, subscribed: Type.Boolean() };
export const GroupLabel = resource('GroupLabel', groupFields);
export const ProjectLabel = resource('ProjectLabel', {
  ...groupFields,
  priority: nullable(Type.Integer()),
  is_project_label: Type.Boolean(),
});

/** The columns of `labels` for replies. */
export const labelColumns = [
  'labels.id',
  'labels.title',
  'labels.description',
  'labels.color',
  'labels.archived',
  'labels.project_id',
  'labels.group_id',
] as const;

export interface LabelRow {
  id: number;
  title: string;
  description: string | null;
  color: string;
  archived: boolean;
  project_id: number | null;
  group_id: number | null;
}

/**
 * Text without any Markdown, which can be used as HTML directly. Most labels have such descriptions, and lists repeat
 * them in each row.
 */
const plain = /^[\p{L}\p{N} ,.]*$/u;

/** The description of a label as HTML. */
const descriptionHtml = async (text: string | null): Promise<string | null> =>
  text === null || plain.test(text) ? text : toInlineHtml(text);

type Details = Static<typeof LabelDetails>;

const presentDetails = async ({ id, title, description, color, archived }: LabelRow): Promise<Details> => ({
  id,
  name: title,
  description,
  description_html: await descriptionHtml(description),
  text_color: textColorOn(color),
  color,
  archived,
});

/**
 * Labels with details, by id. Each is presented once, however many items of a page have it, and other requests are
 * served in between.
 */
export async function labelDetails(labels: Iterable<LabelRow>): Promise<Map<number, Details>> {
  const distinct = new Map([...labels].map((label) => [label.id, label]));
  const presented = await mapInSlices([...distinct.values()], presentDetails);
  return new Map(presented.map((details) => [details.id, details]));
}

/**
 * The labels of each issuable of a page, with details or as their titles.
 * @returns by id of the issuable
 */
export async function presentLabelsOf(
  rows: readonly { id: number; labels: readonly LabelRow[] }[],
  withDetails = false,
): Promise<Map<number, (string | Details)[]>> {
  const details = withDetails ? await labelDetails(rows.flatMap(({ labels }) => labels)) : undefined;
  return new Map(rows.map(({ id, labels }) => [id, labels.map((label) => details?.get(label.id) ?? label.title)]));
}

/** The fields of a label that depend on the caller. */
export interface ListedLabelRow extends LabelRow {
  subscribed: boolean;
  priority: number | null;
}

export interface LabelCounts {
  open_issues_count: number;
  closed_issues_count: number;
  open_merge_requests_count: number;
}

/**
 * A label in the lists of a group.
 * @param details of `labelDetails`
 * @param counted omitted when counts were not requested
 */
export const presentGroupLabel = (
  label: ListedLabelRow,
  details: Details,
  counted?: LabelCounts,
): Static<typeof GroupLabel> => ({
  ...details,
  ...counted,
  subscribed: label.subscribed,
});

/** The same in the lists of a project. */
export const presentProjectLabel = (
  label: ListedLabelRow,
  details: Details,
  counted?: LabelCounts,
): Static<typeof ProjectLabel> => ({
  ...presentGroupLabel(label, details, counted),
  priority: label.priority,
  is_project_label: label.project_id !== null,
});
