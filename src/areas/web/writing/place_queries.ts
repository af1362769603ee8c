/** The project or group in which a text is written. */
import { visibleGroup, visibleProject } from '../../../access/index.ts';
import type { PageCall } from '../../../pages/index.ts';

export interface WritingPlace {
  kind: 'project' | 'group';
  id: number;
  full_path: string;
}

/**
 * The place of a page, from its address.
 * @param path the pattern of the page
 * @returns undefined for a page that is in neither a project nor a group
 * @throws ApiError 404 if it is hidden
 */
export async function placeOf(
  path: string,
  { services: { db }, caller, params }: Pick<PageCall, 'services' | 'caller' | 'params'>,
): Promise<WritingPlace | undefined> {
  const kind = path.startsWith('/groups/:id') ? 'group' : path.startsWith('/:id/') ? 'project' : undefined;
  if (!kind) return undefined;
  const find = kind === 'group' ? visibleGroup : visibleProject;
  const { id, full_path } = await find(db, caller, params.id!);
  return { kind, id, full_path };
}
