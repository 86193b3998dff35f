/** Properties of a simulated text model (Gemini API, models and thinking). */
export interface SimulatedTextModel {
  thinking: "level" | "budget";
  levels: readonly string[];
  minBudget: number;
  maxBudget: number;
}

const level = {
  thinking: "level",
  levels: ["LOW", "MEDIUM", "HIGH"],
  minBudget: 0,
  maxBudget: 24_576,
} as const;
const budget = { thinking: "budget", levels: [], minBudget: 0, maxBudget: 24_576 } as const;

export const TEXT_MODELS: Readonly<Record<string, SimulatedTextModel>> = {
  "gemini-3.8-flash": level,
  "gemini-3.5-flash": { ...level, levels: ["MINIMAL", ...level.levels] },
  "gemini-3.1-pro-preview": { ...level, minBudget: 128, maxBudget: 32_768 },
  "gemini-2.5-flash": budget,
  "gemini-2.5-pro": { ...budget, minBudget: 128, maxBudget: 32_768 },
};
