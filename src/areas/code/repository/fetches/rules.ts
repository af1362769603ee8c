/** The number of days for which fetches are shown and kept. */
export const shown_days = 30;
