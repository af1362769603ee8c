/** Moves of repositories between storages, by administrators (docs/reference/storage_moves.md). */
import { Type } from 'typebox';
import { admin, groupForAdmin, projectForAdmin, snippetForAdmin } from '../../../access/index.ts';
import {
  type Access,
  type AnyEndpoint,
  accepted,
  badParams,
  capitalized,
  found,
  get,
  Id,
  one,
  optional,
  pageOf,
  post,
  type Services,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { scheduleMoves } from './bulk_jobs.ts';
import { type Container, containers } from './definition.ts';
import { movesOf, presentMove, storageMoveForms } from './present.ts';
import { busy, scheduleMove } from './scheduling_actions.ts';

/** Whether a container exists is revealed only to administrators. */
const afterAdmin = <G>(access: Access<G>, idOf: (granted: G) => number): Access<{ container_id: number }> => ({
  rule: admin.rule,
  async check(call) {
    await admin.check(call);
    return { container_id: idOf(await access.check(call)) };
  },
});

const administered: Readonly<Record<Container['name'], Access<{ container_id: number }>>> = {
  project: afterAdmin(projectForAdmin, ({ project }) => project.id),
  snippet: afterAdmin(snippetForAdmin, ({ snippet }) => snippet.id),
  group: afterAdmin(groupForAdmin, ({ group }) => group.id),
};

/** @throws ApiError 404 */
async function moveReply(services: Services, container: Container, id: number, container_id?: number) {
  const move = movesOf(services.db, container)
    .where('moves.id', '=', id)
    .$if(container_id !== undefined, (q) => q.where(`moves.${container.column}`, '=', container_id!));
  return presentMove(services, found(undefined, await move.executeTakeFirst()));
}

/** @throws ApiError 400 with the names of parameters that are not configured storages */
function refuseUnknown({ storages }: Services, names: Record<string, string | undefined>): void {
  const wrong = Object.entries(names).filter(
    ([, storage]) => storage !== undefined && !Object.hasOwn(storages, storage),
  );
  if (wrong.length > 0) throw badParams(wrong.map(([name]) => `${name} does not have a valid value`).join(', '));
}

const destination = {
  description: 'Name of a git storage; by default one is chosen by the weights in the application settings',
};

function routesOf(container: Container): AnyEndpoint[] {
  const { name, column } = container;
  const [Name, names] = [capitalized(name), `${name}s`];
  const [all, ofOne] = [`/${name}_repository_storage_moves`, `/${names}/:id/repository_storage_moves`];
  const returns = { list: pageOf(storageMoveForms[name]), one: one(storageMoveForms[name]) };
  const access = administered[name];
  const input = { repository_storage_id: Id };
  const plan = name === 'group' ? ({ plan: 'premium' } as const) : {};
  const missing = { 404: `404 ${Name} Not Found` };
  return [
    get(all, {
      operation: `list${Name}StorageMoves`,
      summary: `List the storage moves of all ${names}, newest first`,
      access: admin,
      input: paging,
      returns: returns.list,
      ...plan,
      handle: async ({ input, ...services }) =>
        mapPage(await paginate(services.db, movesOf(services.db, container), input), (row) =>
          presentMove(services, row),
        ),
    }),
    get(`${all}/:repository_storage_id`, {
      operation: `get${Name}StorageMove`,
      summary: `Show a storage move of a ${name}`,
      access: admin,
      input,
      returns: returns.one,
      ...plan,
      handle: ({ input, ...services }) => moveReply(services, container, input.repository_storage_id),
    }),
    post(all, {
      operation: `schedule${Name}StorageMoves`,
      summary: `Schedule storage moves of all ${names} on a storage; those that cannot be moved now are skipped`,
      access: admin,
      input: {
        source_storage_name: Type.String({ description: 'Name of a git storage' }),
        destination_storage_name: optional(Type.String(destination)),
      },
      returns: accepted,
      refusals: { 400: '<parameter> does not have a valid value' },
      ...plan,
      handle: async ({ input: { source_storage_name, destination_storage_name }, ...services }) => {
        refuseUnknown(services, { source_storage_name, destination_storage_name });
        const wanted = { container: name, source: source_storage_name, destination: destination_storage_name ?? null };
        await scheduleMoves.enqueue(services.db, wanted);
      },
    }),
    get(ofOne, {
      operation: `listStorageMovesOf${Name}`,
      summary: `List the storage moves of a ${name}, newest first`,
      access,
      input: paging,
      returns: returns.list,
      refusals: missing,
      ...plan,
      handle: async ({ input, container_id, ...services }) => {
        const moves = movesOf(services.db, container).where(`moves.${column}`, '=', container_id);
        return mapPage(await paginate(services.db, moves, input), (row) => presentMove(services, row));
      },
    }),
    get(`${ofOne}/:repository_storage_id`, {
      operation: `getStorageMoveOf${Name}`,
      summary: `Show a storage move of one ${name}`,
      access,
      input,
      returns: returns.one,
      refusals: missing,
      ...plan,
      handle: ({ input, container_id, ...services }) =>
        moveReply(services, container, input.repository_storage_id, container_id),
    }),
    post(ofOne, {
      operation: `scheduleStorageMoveOf${Name}`,
      summary: `Schedule a storage move of a ${name}`,
      access,
      input: { destination_storage_name: optional(Type.String(destination)) },
      returns: returns.one,
      refusals: {
        400: [
          "destination_storage_name: can't be blank",
          'destination_storage_name: is not included in the list',
          'source_storage_name: is not included in the list',
          `${name}: ${busy}`,
        ],
        ...missing,
      },
      ...plan,
      handle: async ({ input, container_id, ...services }) => {
        const id = await scheduleMove(services, { container, id: container_id }, input.destination_storage_name);
        return moveReply(services, container, id);
      },
    }),
  ];
}

export const storageMoveRoutes = containers.flatMap(routesOf);
