/** Complete changes to tags (docs/reference/repository.md). */
import type { Project } from '../../../../access/index.ts';
import {
  isValidTagName,
  RefConflict,
  RefMoved,
  repositoryOf,
  resolveCommit,
  resolveTag,
  type TagRef,
  writeTag,
} from '../../../../git/index.ts';
import { badRequest, type Caller, conflict, type Services } from '../../../../http/index.ts';
import { moveRefs } from '../moving/actions.ts';
import { projectRepositories } from '../owners/project_kind.ts';
import { refusePush } from '../push_checks/checks.ts';

interface TagRequest {
  project: Project;
  caller: Caller;
}

/**
 * Creates a tag.
 * @param request.ref the branch, tag or commit that the tag points to
 * @param request.message creates an annotated tag by the caller; if omitted, the tag is lightweight
 * @throws ApiError 400 with the texts of docs/reference/repository.md
 */
export async function createTag(
  services: Services,
  { project, caller, name, ref, message }: TagRequest & { name: string; ref: string; message: string },
): Promise<TagRef> {
  const repository = repositoryOf(services, project);
  const alreadyExists = () => badRequest(`Tag ${name} already exists`);
  if (!isValidTagName(name)) throw badRequest('Tag name invalid');
  if (ref === '') throw badRequest('Target is empty');
  if ((await resolveTag(repository, name)) !== undefined) throw alreadyExists();
  const commit_id = await resolveCommit(repository, ref);
  if (commit_id === undefined) throw badRequest(`Target ${ref} is invalid`);
  const update = { ref: `refs/tags/${name}`, old: null, new: commit_id };
  await refusePush(services, { project, caller }, update);
  const tagger = { name: caller.name, email: caller.commit_email, date: new Date() };
  const id = message.trim() === '' ? commit_id : await writeTag(repository, { name, commit_id, message, tagger });
  try {
    await moveRefs(services, { kind: projectRepositories, owner: project, user_id: caller.id }, [
      { ...update, new: id },
    ]);
  } catch (error) {
    if (error instanceof RefMoved) throw alreadyExists();
    if (error instanceof RefConflict)
      throw badRequest(`Failed to create tag '${name}': Tag name conflicts with existing tag hierarchy.`);
    throw error;
  }
  return { name, id };
}

/**
 * Deletes a tag.
 * @param request.tag the tag as the caller saw it
 * @throws ApiError 409 if it has moved meanwhile
 */
export async function deleteTag(
  services: Services,
  { project, caller, tag }: TagRequest & { tag: TagRef },
): Promise<void> {
  const update = { ref: `refs/tags/${tag.name}`, old: tag.id, new: null };
  await refusePush(services, { project, caller }, update);
  try {
    await moveRefs(services, { kind: projectRepositories, owner: project, user_id: caller.id }, [update]);
  } catch (error) {
    if (error instanceof RefMoved) throw conflict(`Could not update ${update.ref}. Please refresh and try again.`);
    throw error;
  }
}
