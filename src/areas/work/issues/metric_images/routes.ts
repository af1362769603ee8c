/** Metric images of incidents (docs/reference/issues.md). */
import { type Static, Type } from 'typebox';
import { type GrantedIssue, issueRole, issueVisible } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  allOptional,
  badRequest,
  checked,
  del,
  deleteFound,
  File,
  forbidden,
  found,
  get,
  Id,
  nothing,
  nullable,
  one,
  pageOf,
  post,
  put,
  resource,
  Timestamp,
} from '../../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../../lists/index.ts';
import { addImage, imagesOf } from './actions.ts';

/** A metric image as the API replies with it. */
export const MetricImage = resource('MetricImage', {
  id: Id,
  created_at: Timestamp,
  filename: Type.String(),
  file_path: Type.String(),
  url: nullable(Type.String()),
  url_text: nullable(Type.String()),
});

type Image = Omit<Static<typeof MetricImage>, 'file_path'>;

const present = (image: Image): Static<typeof MetricImage> => ({
  ...image,
  file_path: `/uploads/-/system/issuable_metric_image/file/${image.id}/${encodeURIComponent(image.filename)}`,
});

const path = '/projects/:id/issues/:issue_iid/metric_images';
const reporter = issueRole('reporter');
const largest_bytes = 100 * 1024 * 1024;

const isImage = (name: string) => /\.(png|jpe?g|gif|bmp|tiff?|ico|webp|avif)$/i.test(name);

function urlReasons(url: string | null): string[] {
  if (url === null || url === '') return [];
  if (url.length > 255) return ['is too long (maximum is 255 characters)'];
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? [] : ['must be a valid URL'];
}

const texts = allOptional({
  url: checked(nullable(Type.String({ description: 'URL with details' })), urlReasons),
  url_text: checked(nullable(Type.String({ description: 'Caption of the image or text of the link' })), (text) =>
    text !== null && text.length > 128 ? ['is too long (maximum is 128 characters)'] : [],
  ),
});

/** @throws ApiError 403 unless the issue is an incident */
function checkIncident({ issue_type }: GrantedIssue): void {
  if (issue_type !== 'incident') throw forbidden();
}

/** @throws ApiError 404 */
const imageOf = async (db: Database, issue: GrantedIssue, id: number): Promise<Image> =>
  found('Metric image', await imagesOf(db, issue.id).where('id', '=', id).executeTakeFirst());

export const issueMetricImageRoutes = [
  get(path, {
    operation: 'listIssueMetricImages',
    summary: 'List the metric images of an incident, oldest first',
    access: issueVisible,
    input: paging,
    returns: pageOf(MetricImage),
    handle: async ({ db, issue, input }) =>
      mapPage(await paginate(db, imagesOf(db, issue.id).orderBy('id'), input), present),
  }),
  post(path, {
    operation: 'uploadIssueMetricImage',
    summary: 'Upload a metric image',
    description: 'The file has at most 100 MiB and the extension of an image.',
    access: reporter,
    input: {
      file: File('metric_images', largest_bytes, {
        description: 'A PNG, JPEG, GIF, BMP, TIFF, ICO, WebP or AVIF file',
      }),
      ...texts,
    },
    returns: one(MetricImage),
    refusals: { 400: 'Metric image could not be uploaded' },
    handle: async ({ db, issue, input: { file, ...given } }) => {
      checkIncident(issue);
      if (!isImage(file.name) || file.size_bytes === 0) throw badRequest('Metric image could not be uploaded');
      return present(await addImage(db, issue.id, file, given));
    },
  }),
  put(`${path}/:image_id`, {
    operation: 'updateIssueMetricImage',
    summary: 'Update a metric image',
    access: reporter,
    input: { image_id: Id, ...texts },
    returns: one(MetricImage),
    refusals: { 404: '404 Metric image Not Found' },
    handle: async ({ db, issue, input: { image_id, ...changes } }) => {
      checkIncident(issue);
      const image = await imageOf(db, issue, image_id);
      if (Object.keys(changes).length > 0)
        await db.updateTable('issue_metric_images').set(changes).where('id', '=', image.id).execute();
      return present({ ...image, ...changes });
    },
  }),
  del(`${path}/:image_id`, {
    operation: 'deleteIssueMetricImage',
    summary: 'Delete a metric image',
    access: reporter,
    input: { image_id: Id },
    returns: nothing,
    refusals: { 404: '404 Metric image Not Found' },
    handle: async ({ db, issue, input }) => {
      checkIncident(issue);
      const { id } = await imageOf(db, issue, input.image_id);
      await deleteFound(db, 'issue_metric_images', id, 'Metric image');
    },
  }),
];
