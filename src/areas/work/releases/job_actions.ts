/** Releases that jobs make when they succeed (docs/reference/releases.md#releases-of-jobs). */
import { levels, mayUse } from '../../../access/index.ts';
import { badRequest, forbidden } from '../../../http/index.ts';
import { descriptionReasons, tooLong } from '../../../texts/index.ts';
import type { ReleasePreparation } from '../../ci/jobs/index.ts';
import { prepareRelease } from './actions.ts';

/** @throws ApiError 400 for a time that is none */
function timeIn(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw badRequest('released_at is invalid');
  return new Date(time).toISOString();
}

/** Prepares the release of a job with the rights of its user. */
export const prepareReleaseOfJob: ReleasePreparation = async (services, { project, caller }, release) => {
  const mayRelease =
    project.access_level >= levels.developer && mayUse(project, 'releases') && mayUse(project, 'repository');
  if (!mayRelease || project.read_only) throw forbidden();
  const { tag_name: tag, name, description, ref, tag_message = '', released_at, milestones, links } = release;
  const title = name?.trim() ? name : tag;
  const [reason] = [...tooLong(title, 255).map((text) => `name ${text}`), ...descriptionReasons(description)];
  if (reason !== undefined) throw badRequest(reason);
  return prepareRelease(
    services,
    { project, caller },
    {
      ...{ tag, name: title, description, ref, tag_message, milestones, released_at: timeIn(released_at) },
      links: links.map(({ filepath, link_type = 'other', ...link }) => ({
        ...link,
        filepath: filepath || null,
        link_type,
      })),
    },
  );
};
