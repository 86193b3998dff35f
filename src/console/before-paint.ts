import { startTheme } from "./shell/theme.ts";
import { applyLanguage, currentLanguage } from "./texts/language.ts";

// The build puts this script into the page itself, so that the first paint has the chosen theme and language.
startTheme();
applyLanguage(currentLanguage());
