/** How namespaces appear inside other things (groups-projects-members.md sections 1.1 and 1.2). */
import { type Static, Type } from 'typebox';
import { DateOnly, Id, nullable, resource } from '../../../http/index.ts';

export const namespaceBasicFields = {
  id: Id,
  name: Type.String(),
  path: Type.String(),
  kind: Type.Enum(['user', 'group']),
  full_path: Type.String(),
  parent_id: nullable(Id),
  avatar_url: nullable(Type.String()),
  web_url: Type.String(),
};
/** The form in which the namespace of a project appears. */
export const NamespaceBasic = resource('NamespaceBasic', namespaceBasicFields);

export const namespaceBasicColumns = [
  'namespaces.id',
  'namespaces.name',
  'namespaces.path',
  'namespaces.kind',
  'namespaces.full_path',
  'namespaces.parent_id',
] as const;

export interface NamespaceRow {
  id: number;
  name: string;
  path: string;
  kind: string;
  full_path: string;
  parent_id: number | null;
}

/** @param url the external address of the server */
export const groupWebUrl = (url: string, full_path: string) => `${url}/groups/${full_path}`;

/**
 * @param url the external address of the server
 * @param namespace the columns of `namespaceBasicColumns`
 */
export const presentNamespaceBasic = (
  url: string,
  { id, name, path, kind, full_path, parent_id }: NamespaceRow,
): Static<typeof NamespaceBasic> => ({
  id,
  name,
  path,
  kind: kind as 'user' | 'group',
  full_path,
  parent_id,
  avatar_url: null,
  web_url: kind === 'group' ? groupWebUrl(url, full_path) : `${url}/${full_path}`,
});

/** What everybody who may know of a group sees of it where groups are to be chosen from. */
export const PublicGroupDetails = resource('PublicGroupDetails', {
  id: Id,
  web_url: Type.String(),
  name: Type.String(),
  avatar_url: nullable(Type.String()),
  full_name: Type.String(),
  full_path: Type.String(),
});

/**
 * @param url the external address of the server
 * @param group with `full_name`, the names from the top down, joined by ` / `
 */
export const presentPublicGroup = (
  url: string,
  { id, name, full_name, full_path }: { id: number; name: string; full_name: string; full_path: string },
): Static<typeof PublicGroupDetails> => ({
  id,
  web_url: groupWebUrl(url, full_path),
  name,
  avatar_url: null,
  full_name,
  full_path,
});

/** A group that is invited, as the group or project shows it that has invited it. */
export const SharedWithGroup = resource('SharedWithGroup', {
  group_id: Id,
  group_name: Type.String(),
  group_full_path: Type.String(),
  group_access_level: Type.Integer(),
  expires_at: nullable(DateOnly),
});
