/** Looks up the target project of a new merge request, and an open merge request for the same branches. */
import { hasMergeRequests, mayReadMergeRequests, type Project, visibleProject } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Caller, forbidden } from '../../../http/index.ts';
import { isOneNetwork } from '../../code/repository/index.ts';
import { disabledText, noForkText } from './rules.ts';

/** Some refusals of the reference are a list instead of a sentence. */
export const refusedAs = (status: number, text: string) => new ApiError(status, { message: [text] });

/**
 * The target project of a merge request from a branch of `source`.
 * @param id the id of the target; undefined for the source itself
 * @throws ApiError 404 if it is hidden from the caller, 422 if it is outside the fork network or has merge requests disabled, 403 if the caller may not create any
 */
export async function targetFor(
  db: Database,
  caller: Caller,
  source: Project,
  id: number | undefined,
): Promise<Project> {
  if (id === undefined || id === source.id) {
    if (!mayReadMergeRequests(source)) throw forbidden();
    return source;
  }
  const target = await visibleProject(db, caller, String(id));
  if (!(await isOneNetwork(db, source.id, target.id))) throw refusedAs(422, noForkText);
  if (!hasMergeRequests(target)) throw refusedAs(422, disabledText);
  if (!mayReadMergeRequests(target) || target.read_only) throw forbidden();
  return target;
}
