/** Rules of member roles (docs/reference/member_roles.md). Pure functions. */
import { levels, type Permission, permissions } from '../../../access/index.ts';
import { tooLong } from '../../../texts/index.ts';

/** The maximum number of roles of a group; the instance has no limit. */
export const maximumRoles = 10;

export const taken = 'Name has already been taken';
export const tooMany =
  'Namespace maximum number of Member Roles are already in use by the group hierarchy. Please delete an existing Member Role.';

const maximumLength = 255;

export type RoleValues = { name: string; description: string | null; base_access_level: number } & Record<
  Permission,
  boolean
>;

/** Permissions that require another one, and the level that includes the required one anyway. */
const needs: readonly { wanted: Permission; needed: Permission; from: number }[] = [
  { wanted: 'admin_vulnerability', needed: 'read_vulnerability', from: levels.developer },
];

/** `admin_vulnerability` as `Admin vulnerability`. */
const humanised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');

const lengthReasons = (field: string, text: string) =>
  tooLong(text, maximumLength).map((reason) => `${field} ${reason}`);

/** Reasons against the values of a role, as sentences; empty when they are valid. Other roles are not considered. */
export function roleReasons(role: RoleValues): string[] {
  const missing = needs.filter(
    ({ wanted, needed, from }) => role[wanted] && !role[needed] && role.base_access_level < from,
  );
  return [
    ...(role.name.trim() === '' ? ["Name can't be blank"] : []),
    ...lengthReasons('Name', role.name),
    ...lengthReasons('Description', role.description ?? ''),
    ...(permissions.some((name) => role[name]) ? [] : ['Cannot create a member role with no enabled permissions']),
    ...missing.map(
      ({ wanted, needed }) => `${humanised(needed)} has to be enabled in order to enable ${humanised(wanted)}`,
    ),
  ];
}
