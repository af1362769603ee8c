/** Access levels by the names of their roles (conventions.md section 14). */
export const levels = { minimal: 5, guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const;

export type Role = keyof typeof levels;
