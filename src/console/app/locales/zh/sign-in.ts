import type { signIn as english } from "../en/sign-in.ts";

export const signIn: Record<keyof typeof english, string> = {
  title: "登录",
  "password.heading": "登录",
  "code.heading": "输入验证码",
  "newPassword.heading": "设置新密码",
  name: "用户名",
  password: "密码",
  submit: "登录",
  with: "使用 {{provider}} 登录",
  code: "验证码",
  "code.help": "身份验证器中的六位数字",
  recoveryCode: "恢复码",
  "recoveryCode.help": "您保存的恢复码之一，每个只能用一次",
  useRecoveryCode: "使用恢复码",
  useCode: "使用身份验证器",
  back: "返回",
  currentPassword: "当前密码",
  newPassword: "新密码",
  "newPassword.about": "您登录所用的密码是系统生成的，请设置一个只有您知道的密码。",
  "newPassword.help": "至少 12 个字符",
  "newPassword.submit": "保存并继续",
};
