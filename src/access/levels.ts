/** Access levels, by the names of their roles. */
import { Type } from 'typebox';

export const levels = {
  minimal: 5,
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
} as const;

export type Role = keyof typeof levels;

const { minimal, guest, planner, reporter, developer, maintainer, owner } = levels;

/** The levels that a member of a project can have. */
const projectLevels = [guest, planner, reporter, developer, maintainer, owner] as const;

/** The levels that a member of a group can have. */
export const groupLevels = [minimal, ...projectLevels] as const;

/** A parameter that takes a level in a project. */
export const ProjectLevel = (options: { default?: number; description?: string } = {}) =>
  Type.Enum([...projectLevels], options);

/** A parameter that takes a level in a group. */
export const GroupLevel = (options: { default?: number; description?: string } = {}) =>
  Type.Enum([...groupLevels], options);
