/** The metric images of incidents. */
import type { Static } from 'typebox';
import type { Page } from '../../../http/index.ts';
import { type Field, form, type Html, hidden, html, refusalIn, type Seen } from '../../../pages/index.ts';
import type { MetricImage } from '../../work/issues/index.ts';

export type ShownMetric = Static<typeof MetricImage>;

export const metricForms = {
  add_metric: { runs: 'uploadIssueMetricImage' },
  change_metric: { runs: 'updateIssueMetricImage' },
  remove_metric: { runs: 'deleteIssueMetricImage' },
} as const;

const textFields = (image?: ShownMetric): readonly Field[] => [
  { name: 'url_text', label: 'Caption', value: image?.url_text, maximum: 128, ...(image && { is_clearable: 'null' }) },
  {
    name: 'url',
    label: 'Address with details',
    value: image?.url,
    maximum: 255,
    ...(image && { is_clearable: 'null' }),
  },
];

function metricView(seen: Seen, image: ShownMetric): Html {
  const { id, file_path, filename, url, url_text } = image;
  const caption = url_text ?? url ?? filename;
  const own = hidden('image_id', id);
  return html`<figure><img src="${file_path}" alt="${url_text ?? filename}" loading="lazy"><figcaption>${url ? html`<a href="${url}">${caption}</a>` : caption}${
    seen.may('add_metric') &&
    html`<details ?open="${refusalIn(seen, 'change_metric', id) !== undefined}"><summary>Change<span class="visually-hidden"> ${caption}</span></summary>${form(
      seen,
      'change_metric',
      { fields: [...textFields(image), own], button: 'Save caption', look: 'plain', key: id },
    )}${form(seen, 'remove_metric', { fields: [own], button: 'Delete the image', look: 'danger', key: id })}</details>`
  }</figcaption></figure>`;
}

/** The images, with the form for a further one. */
export const metricsView = (seen: Seen, { items, has_more }: Page<ShownMetric>): Html =>
  html`<h2>Metrics</h2>
${items.length > 0 ? html`<div class="text">${items.map((image) => metricView(seen, image))}</div>` : html`<p class="soft">There are no images yet.</p>`}
${has_more && html`<p class="soft">Only the first ${items.length} are shown.</p>`}
${
  seen.may('add_metric') &&
  html`<details ?open="${refusalIn(seen, 'add_metric') !== undefined}"><summary>Upload an image</summary>${form(
    seen,
    'add_metric',
    {
      fields: [{ name: 'file', label: 'Image', kind: 'file', is_required: true }, ...textFields()],
      button: 'Upload',
      look: 'plain',
    },
  )}</details>`
}`;
