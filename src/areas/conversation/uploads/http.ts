/**
 * Uploads at their web addresses, which links in texts point to (docs/reference/uploads.md). They accept API tokens, in
 * headers only.
 */
import {
  countRequest,
  type MaybeCaller,
  mayRead,
  movedProject,
  type Owner,
  projectFor,
  readerOf,
  uploadsPath,
  visibleGroup,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Caller,
  type Doorway,
  door,
  fileReply,
  type Identification,
  jsonForm,
  notFound,
  type Reading,
  scopesFor,
} from '../../../http/index.ts';
import { dispositionOf, isEmbeddable, mediaType } from '../../../markdown/index.ts';
import { disposition, shownAs } from '../../code/repository/index.ts';
import { mayReadGroupUploads, ofGroup, ofProject } from './access.ts';
import { type Address, uploadAt } from './queries.ts';
import type { UploadOwner } from './rules.ts';

interface UploadRequest {
  Params: Address & { id: string };
  Headers: Reading;
}

const address = /^\/(?!api\/)((?:(?!-\/)[^/?]+\/)+(?!-\/)[^/?]+)\/uploads\/([0-9a-f]{32}\/[^/?]+(?:\?.*)?)$/;

/**
 * The URL under which the server routes a request: an upload below the path of a project is treated like one below its
 * id. Any other URL is unchanged.
 * @param url path and query as received
 */
export function uploadUrl(url: string): string {
  const [match, full_path = '', rest] = address.exec(url) ?? [];
  if (match === undefined) return url;
  try {
    return `${uploadsPath('project', encodeURIComponent(decodeURIComponent(full_path)))}/${rest}`;
  } catch {
    return url;
  }
}

async function enforcesChecks(db: Database, project_id: number): Promise<boolean> {
  const { enforce_auth_checks_on_uploads } = await db
    .selectFrom('projects')
    .select('enforce_auth_checks_on_uploads')
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow();
  return enforce_auth_checks_on_uploads;
}

/**
 * Who may download an upload of a project or group: members and others who can see it. A project can also make media in
 * texts available to everyone who has the address.
 */
const ownersFor: Record<
  UploadOwner,
  (db: Database, caller: MaybeCaller, params: UploadRequest['Params']) => Promise<Owner>
> = {
  async project(db, caller, { id, filename }) {
    const project = (await projectFor(db, caller, id)) ?? (await movedProject(db, caller, id));
    if (!project) throw notFound('Project');
    const isOpen = isEmbeddable(filename) && !project.marked_for_deletion && !(await enforcesChecks(db, project.id));
    if (!isOpen && !mayRead(caller, project)) throw notFound('Project');
    return ofProject(project);
  },
  async group(db, caller, { id }) {
    const group = await visibleGroup(db, caller, id);
    if (!mayReadGroupUploads(group)) throw notFound('Group');
    return ofGroup(group);
  },
};

const who: Identification<Caller, UploadRequest> = {
  identify: (services, request) => readerOf(services, request, {}),
  scopes: () => scopesFor({ method: 'GET' }),
  count: (services, counting) => countRequest(services, {}, counting),
};

const doorOf = (place: UploadOwner) =>
  door<Caller, UploadRequest>({
    method: 'GET',
    url: `${uploadsPath(place, ':id')}/:secret/:filename`,
    who,
    handle: async ({ services: { db, blobs }, caller, request, reply }) => {
      const owner = await ownersFor[place](db, caller, request.params);
      const { filename, blob_key, size_bytes, sha256 } = await uploadAt(db, owner, request.params);
      const { status, headers, body } = await fileReply(
        blobs,
        { key: blob_key, size_bytes, etag: sha256 },
        request.headers,
        {
          ...shownAs(mediaType(filename), disposition(dispositionOf(filename), filename)),
          'cache-control': 'max-age=300, private, must-revalidate',
        },
      );
      return reply.code(status).headers(headers).send(body);
    },
  });

export const uploadDoorway: Doorway = {
  cost: 'stream',
  doors: [doorOf('project'), doorOf('group')],
  errors: () => jsonForm,
};
